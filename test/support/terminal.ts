/** A shell that blocks of a page are pasted into, one after the other: what one sets, the next has. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryDirectory } from './server.ts';

interface Pasted {
  stdout: string;
  stderr: string;
  /** Every command of it that failed, in a pipeline too. */
  failed: string[];
}

export interface Terminal {
  paste(block: string): Promise<Pasted>;
  /** What a variable is set to. */
  value(name: string): Promise<string>;
  close(): void;
}

/** Opens one in an empty directory. */
export function openTerminal(env: Record<string, string>): Terminal {
  const aside = temporaryDirectory();
  const [script, stdout, stderr, failed] = ['script', 'stdout', 'stderr', 'failed'].map((name) => join(aside, name));
  const shell = spawn('bash', ['--noprofile', '--norc'], { cwd: temporaryDirectory(), env });
  const lines = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  shell.stdin.write(`set -o pipefail; trap 'echo "$BASH_COMMAND" >> ${failed}' ERR\n`);

  async function paste(block: string): Promise<Pasted> {
    for (const file of [stdout!, stderr!, failed!]) writeFileSync(file, '');
    writeFileSync(script!, block);
    shell.stdin.write(`. ${script} < /dev/null > ${stdout} 2> ${stderr}; echo done\n`);
    if ((await lines.next()).done) throw new Error(`the shell ended in: ${block}`);
    const [output, errors, failures] = [stdout!, stderr!, failed!].map((file) => readFileSync(file, 'utf8'));
    return { stdout: output!, stderr: errors!, failed: failures!.split('\n').filter((line) => line !== '') };
  }

  return {
    paste,
    value: async (name) => (await paste(`printf %s "$${name}"`)).stdout,
    close: () => void shell.kill(),
  };
}
