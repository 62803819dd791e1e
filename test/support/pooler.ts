/**
 * As much of a connection pooler as matters to its clients: in session mode, and in transaction mode with and without prepared
 * statements (PgBouncer 1.21 or newer with max_prepared_statements, and others).
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Connection } from '../../src/store/postgres/db.ts';

export type Mode = 'session' | 'transaction' | 'transaction, with prepared statements';

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const numbers = (...all: number[]): Buffer =>
  Buffer.concat(all.map((n) => Buffer.from(new Int32Array([n]).buffer).swap32()));
const text = (body: Buffer, from = 0): string => body.toString('utf8', from, body.indexOf(0, from));

/** Calls back with each message of a stream; the first of a client has no type. */
function reader(
  untyped: boolean,
  onMessage: (type: string, body: Buffer, whole: Buffer) => void,
): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let first = untyped;
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const at = first ? 0 : 1;
      if (rest.length < at + 4 || rest.length < at + rest.readInt32BE(at)) return;
      const end = at + rest.readInt32BE(at);
      const [whole, type] = [rest.subarray(0, end), first ? '' : String.fromCharCode(rest[0]!)];
      rest = rest.subarray(end);
      first = false;
      onMessage(type, whole.subarray(at + 4), whole);
    }
  };
}

/** A connection to Postgres. */
interface Lane {
  socket: Socket;
  /** The names of what is prepared on it. */
  prepared: Set<string>;
  /** Answers to Parse and Close to come; the pooler's own are nobody else's. */
  due: Array<'theirs' | 'ours'>;
  client: Client | undefined;
}
interface Client {
  socket: Socket;
  lane: Lane | undefined;
  waiting: Array<[type: string, body: Buffer, whole: Buffer]>;
  /** Parse messages by the name they give. */
  statements: Map<string, Buffer>;
  unanswered: number;
}

/** Starts one; two transactions at a time have a connection each. */
export async function startPooler(
  to: Extract<Connection, { host: string }>,
  mode: Mode,
): Promise<{ url: string; close(): Promise<void> }> {
  const lanes: Lane[] = [];
  const clients = new Set<Client>();
  const keeps = mode === 'transaction, with prepared statements';

  const free = (client: Client): void => {
    if (client.lane) client.lane.client = undefined;
    client.lane = undefined;
    for (const other of clients) if (other.waiting.length > 0 && !other.lane) serve(other);
  };

  function open(): Lane {
    const socket = connect(join(to.host, `.s.PGSQL.${to.port}`));
    const lane: Lane = { socket, prepared: new Set(), due: [], client: undefined };
    const names = Buffer.from(`user\0${to.user}\0database\0${to.database}\0\0`);
    socket.write(Buffer.concat([numbers(names.length + 8, 196_608), names]));
    socket.on('error', () => {});
    let isReady = false;
    socket.on(
      'data',
      reader(false, (type, body, whole) => {
        const { client } = lane;
        if (!isReady) {
          isReady = type === 'Z';
          if (isReady && client) serve(client);
          return;
        }
        if ((type === '1' || type === '3') && lane.due.shift() === 'ours') return;
        client?.socket.write(whole);
        if (type !== 'Z' || !client) return;
        lane.due = [];
        client.unanswered -= 1;
        if (mode !== 'session' && client.unanswered === 0 && String.fromCharCode(body[0]!) === 'I') free(client);
      }),
    );
    Object.defineProperty(lane, 'isReady', { get: () => isReady });
    lanes.push(lane);
    return lane;
  }

  function serve(client: Client): void {
    // The last that was given back comes first.
    client.lane ??= lanes.findLast((lane) => lane.client === undefined) ?? (lanes.length < 4 ? open() : undefined);
    const { lane } = client;
    if (!lane) return;
    lane.client = client;
    if (!(lane as Lane & { isReady: boolean }).isReady) return;
    for (const [type, body, whole] of client.waiting.splice(0)) pass(client, lane, type, body, whole);
  }

  function pass(client: Client, lane: Lane, type: string, body: Buffer, whole: Buffer): void {
    const send = (bytes: Buffer): void => void lane.socket.write(bytes);
    const forget = (name: string): void => {
      if (!lane.prepared.delete(name)) return;
      lane.due.push('ours');
      send(message('C', Buffer.from(`S${name}\0`)));
    };
    if (type === 'P') {
      const name = text(body);
      if (keeps && name !== '') forget(name);
      client.statements.set(name, whole);
      lane.prepared.add(name);
      lane.due.push('theirs');
    } else if (type === 'C') {
      lane.prepared.delete(text(body, 1));
      lane.due.push('theirs');
    } else if (type === 'B' && keeps) {
      const name = text(body, body.indexOf(0) + 1);
      const statement = client.statements.get(name);
      if (name !== '' && statement && !lane.prepared.has(name)) {
        lane.prepared.add(name);
        lane.due.push('ours');
        send(statement);
      }
    }
    if (type === 'Q' || type === 'S') client.unanswered += 1;
    send(whole);
  }

  const server: Server = createServer((socket) => {
    const client: Client = { socket, lane: undefined, waiting: [], statements: new Map(), unanswered: 0 };
    clients.add(client);
    const gone = (): void => {
      clients.delete(client);
      const { lane } = client;
      if (lane) lanes.splice(lanes.indexOf(lane), 1);
      lane?.socket.destroy();
      free(client);
    };
    socket.on('error', () => {}).on('close', gone);
    socket.on(
      'data',
      reader(true, (type, body, whole) => {
        if (type === 'X') return void socket.end();
        if (type === '') {
          // A number of its own, as poolers give: it is not that of the process that will answer.
          const hello = [message('R', numbers(0)), message('K', numbers(1, 1)), message('Z', Buffer.from('I'))];
          return void socket.write(Buffer.concat(hello));
        }
        client.waiting.push([type, body, whole]);
        return serve(client);
      }),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `postgres://${to.user}@127.0.0.1:${port}/${to.database}`,
    async close() {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const { socket } of clients) socket.destroy();
      for (const { socket } of lanes) socket.destroy();
      await closed;
    },
  };
}
