/** Preloaded into every server that is measured: says what it used so far, and records CPU profiles, when its parent asks. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** What a process used since it began. */
export interface Usage {
  /** Bytes. */
  rss: number;
  max_rss: number;
  /** Microseconds, of all its threads. */
  cpu: number;
  /** 0 in a process without a database. */
  statements: number;
}

interface Question {
  id: number;
  ask: string;
  file?: string;
}

let session: Session | undefined;

const answers: Record<string, (question: Question) => Promise<unknown>> = {
  async usage() {
    const { user, system } = process.cpuUsage();
    const statements = (globalThis as { postern_statements?: number }).postern_statements ?? 0;
    const max_rss = process.resourceUsage().maxRSS * 1024;
    return { rss: process.memoryUsage.rss(), max_rss, cpu: user + system, statements } satisfies Usage;
  },
  async startProfile() {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 500 });
    await session.post('Profiler.start');
    return true;
  },
  async stopProfile({ file }) {
    const { profile } = await session!.post('Profiler.stop');
    session!.disconnect();
    writeFileSync(file!, JSON.stringify(profile));
    return true;
  },
};

process.on('message', (question: Question) => {
  const answer = answers[question.ask];
  if (answer) void answer(question).then((value) => process.send?.({ id: question.id, answer: value }));
});
// Being listened to keeps no process alive.
process.channel?.unref();
