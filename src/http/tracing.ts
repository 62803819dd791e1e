/** One span for each request, where traces are wanted. It has the route: never the address, a header or the body. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';

type Tracing = NonNullable<Deps['tracing']>;

/** Has every request of the application traced. */
export function traced(app: FastifyInstance, tracing: Tracing, unrouted: string): void {
  const spans = new WeakMap<FastifyRequest, ReturnType<Tracing['begin']>>();
  app.addHook('onRequest', (request, _reply, done) => {
    const span = tracing.begin(request.method, request.headers);
    spans.set(request, span);
    span.run(done);
  });
  // Reading a body ends in the name of its connection: what comes after is the request's again.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span) span.run(done);
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { routeOptions, id } = request;
    spans.get(request)?.end({ route: routeOptions.url ?? unrouted, status: reply.statusCode, request_id: id });
    done();
  });
}
