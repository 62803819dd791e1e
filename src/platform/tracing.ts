/** Traces of requests, types only. opentelemetry.ts is the real thing, and loaded only where somebody wants it. */

/** Begins spans, and sends them away. */
export interface Tracing {
  /** The span of a request, beneath its caller's if there is a `traceparent` among the headers. */
  begin(method: string, headers: Readonly<Record<string, unknown>>): RequestSpan;
  /** A statement was executed: a span beneath the request whose work it was. Its parameters are not known here. */
  statement(sql: string, ms: number, failed: boolean): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** A request under way. Nothing that was sent becomes part of it, but for the trace it belongs to. */
interface RequestSpan {
  /** Does work, at once or later, in the request's name. */
  run(work: () => void): void;
  end(answer: { route: string; status: number; request_id: string }): void;
}
