/** The ceiling: what Fastify itself does with a form and a trivial answer, or with a GET, in one process. */
import formbody from '@fastify/formbody';
import Fastify from 'fastify';
import { pino } from 'pino';

const app = Fastify({
  loggerInstance: pino({ level: process.env['LOG_LEVEL'] ?? 'warn' }),
  disableRequestLogging: true,
});
await app.register(formbody);
app.get('/', async () => ({ ok: true }));
app.post('/', async () => ({ ok: true }));
await app.listen({ host: 'localhost', port: Number(process.env['PORT']) });
