/** The command line: a table of commands. Doors only: what they do is the flows' and the parties'. */
import { ConfigError } from '../config.ts';
import type { Opened } from '../main.ts';

/** What main hands in. */
export interface Process {
  start(mode: 'dev' | 'serve'): Promise<void>;
  open<T>(work: (opened: Opened) => Promise<T>): Promise<T>;
}

export async function run(args: readonly string[], { start }: Process): Promise<number | undefined> {
  try {
    const [command] = args;
    if (command === 'dev' || command === 'serve') await start(command);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      return 78;
    }
    throw error;
  }
}
