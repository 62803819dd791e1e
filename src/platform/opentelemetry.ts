/**
 * Traces by OpenTelemetry, which only this file knows: main loads it when the environment asks for traces. Nothing is
 * patched, and no tracer is registered globally; what a span holds is written here.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  defaultTextMapGetter,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
} from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { Tracing } from './tracing.ts';

/** Milliseconds that the last spans have to be taken, when the process ends. */
const FAREWELL_MS = 2000;
/** Milliseconds between two complaints about a collector that is away. */
const COMPLAIN_EVERY_MS = 60_000;

/** The samplers of the specification, by their names there. */
const samplers = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
} as const satisfies Record<string, (ratio: number) => Sampler>;

export interface TracingOptions {
  /** Where spans are POSTed, as OTLP in JSON. */
  url: string;
  service_name: string;
  sampler: keyof typeof samplers;
  /** Between 0 and 1, for the samplers that want it. */
  ratio: number;
  /** Told when spans could not be delivered. */
  onProblem(problem: string): void;
}

/** Begins to trace. `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_EXPORTER_OTLP_HEADERS` and their like are read by the libraries. */
export function createTracing({ url, service_name, sampler, ratio, onProblem }: TracingOptions): Tracing {
  complainTo(onProblem);
  const named = resourceFromAttributes({ 'service.name': service_name });
  const provider = new TracerProvider({
    resource: detectResources({ detectors: [resourceAttributesEnvDetector] }).merge(named),
    sampler: samplers[sampler](ratio),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  const tracer = provider.getTracer('postern');
  const propagator = new W3CTraceContextPropagator();
  const current = new AsyncLocalStorage<Context>();

  return {
    begin(method, headers) {
      const caller = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const attributes: Attributes = { 'http.request.method': method };
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, caller);
      const context = trace.setSpan(caller, span);
      return {
        run: (work) => current.run(context, work),
        end({ route, status, request_id }) {
          span.updateName(`${method} ${route}`);
          span.setAttributes({
            'http.route': route,
            'http.response.status_code': status,
            'postern.request_id': request_id,
          });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    statement(sql, ms, failed) {
      const context = current.getStore();
      if (!context || !trace.getSpan(context)?.isRecording()) return;
      const { name, attributes } = describeStatement(sql);
      const end = Date.now();
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, startTime: end - ms }, context);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end);
    },
    async close() {
      const late = new Promise<void>((resolve) => void setTimeout(resolve, FAREWELL_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}

/** What a statement changes, else what it reads: neither `for update` nor `do update` begins one. */
const WRITES = /(?<!\b(?:for|do|no key) )\b(insert into|update|delete from)\s+"?([a-z_]+)"?/;
const READS = /\bfrom\s+"?([a-z_]+)"?/;

/** A statement's name and its table's. Its text stays here: it is long, and in the code. */
export function describeStatement(sql: string): { name: string; attributes: Attributes } {
  const [first = ''] = /\w+/.exec(sql) ?? [];
  const [, verb = first === 'with' ? 'select' : first, written] = WRITES.exec(sql) ?? [];
  const operation = verb.split(' ')[0]!;
  const table = written ?? READS.exec(sql)?.[1];
  return {
    name: table === undefined ? operation : `${operation} ${table}`,
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      ...(table !== undefined && { 'db.collection.name': table }),
    },
  };
}

/** The libraries complain about everything that fails, to whoever the process has named; once a minute is enough. */
function complainTo(onProblem: (problem: string) => void): void {
  let next = 0;
  const complain = (problem: string): void => {
    if (performance.now() < next) return;
    next = performance.now() + COMPLAIN_EVERY_MS;
    onProblem(problem);
  };
  setGlobalErrorHandler((problem) =>
    complain(typeof problem === 'string' ? problem : (problem.message ?? 'for no reason that was given')),
  );
  const ignore = (): void => {};
  const logger = { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
