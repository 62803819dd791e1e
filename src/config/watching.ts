/** The variables of metrics and traces. */
import { z } from 'zod';
import { integer, webUrl } from './kinds.ts';

const TRACES_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export const watching = {
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  METRICS_PORT: integer(0, 65_535, 9464),
  // These are OpenTelemetry's: their names and words are the specification's.
  OTEL_SDK_DISABLED: z.stringbool().default(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: webUrl.optional(),
  OTEL_SERVICE_NAME: z.string().min(1).default('postern'),
  OTEL_TRACES_SAMPLER: z.enum(TRACES_SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0|1|0?\.\d{1,9}|1\.0+)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),
};
