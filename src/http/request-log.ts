/** The log that Fastify writes to about one request: rarely, so that it is made when it does, not with each request. */
import type { FastifyBaseLogger } from 'fastify';

type Bindings = Record<string, unknown>;
const METHODS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
type Method = (typeof METHODS)[number];

class RequestLog {
  readonly #log: FastifyBaseLogger;
  readonly #bindings: Bindings;
  constructor(log: FastifyBaseLogger, bindings: Bindings) {
    this.#log = log;
    this.#bindings = bindings;
  }
  get level(): string {
    return this.#log.level;
  }
  child(...given: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#log.child(this.#bindings).child(...given);
  }
  write(method: Method, given: Parameters<FastifyBaseLogger[Method]>): void {
    this.#log.child(this.#bindings)[method](...given);
  }
}
for (const method of METHODS) {
  Object.defineProperty(RequestLog.prototype, method, {
    value(this: RequestLog, ...given: Parameters<FastifyBaseLogger[Method]>) {
      this.write(method, given);
    },
  });
}

/** For Fastify's `childLoggerFactory`: lines carry the bindings (the request's id) as a child's would. */
export const requestLog = (log: FastifyBaseLogger, bindings: Bindings): FastifyBaseLogger =>
  new RequestLog(log, bindings) as unknown as FastifyBaseLogger;
