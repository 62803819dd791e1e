/** An import at a server elsewhere: people go there in parts, and its worker says what became of each part. */
import type { ImportedMembers } from '../users/import/person.ts';
import type { Api } from './api.ts';
import type { Reach } from './remote.ts';

/** The most people and characters in a part: below what the API takes. */
const [PART_PEOPLE, PART_LENGTH] = [1000, 200_000];
/** Milliseconds until a part is asked after again. */
const PATIENCE = 300;

export interface Elsewhere {
  add(line: number, given: unknown): Promise<void>;
  /** Sends the rest, and waits until everything was carried out. */
  end(
    show: (share: number, done: number) => void,
  ): Promise<{ created: number; present: number; refused: Array<{ line: number; detail: string }> }>;
}

export function importElsewhere(api: Api, wait: Reach['wait']): Elsewhere {
  const sent: Array<{ import_id: string; lines: number[] }> = [];
  let [people, lines, length]: [ImportedMembers[], number[], number] = [[], [], 0];
  const flush = async (): Promise<void> => {
    if (people.length === 0) return;
    const { import_id } = await api.call('POST /user-imports', { body: { people, skip_refused: true } });
    sent.push({ import_id, lines });
    [people, lines, length] = [[], [], 0];
  };
  return {
    async add(line, given) {
      const size = Buffer.byteLength(JSON.stringify(given)) + 1;
      if (people.length === PART_PEOPLE || length + size > PART_LENGTH) await flush();
      // The line was judged before.
      people.push(given as ImportedMembers);
      lines.push(line);
      length += size;
    },
    async end(show) {
      await flush();
      const all: Awaited<ReturnType<Elsewhere['end']>> = { created: 0, present: 0, refused: [] };
      for (const [index, part] of sent.entries()) {
        const done = await ended(api, part.import_id, wait);
        all.created += done.created;
        all.present += done.present;
        for (const { line, detail } of done.refused) all.refused.push({ line: part.lines[line - 1]!, detail });
        if (done.state === 'failed')
          for (const line of part.lines) all.refused.push({ line, detail: done.failure ?? 'the import failed' });
        show((index + 1) / sent.length, all.created + all.present);
      }
      return all;
    },
  };
}

async function ended(api: Api, import_id: string, wait: Reach['wait']) {
  for (;;) {
    const part = await api.call('GET /user-imports/{import_id}', { ids: { import_id } });
    if (part.state !== 'waiting') return part;
    await wait(PATIENCE);
  }
}
