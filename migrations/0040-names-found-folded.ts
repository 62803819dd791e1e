import { sql, type Kysely } from 'kysely';

const KINDS = ['username', 'email'] as const;
const PAGE = 1000;

/**
 * The names there are, folded. Where two accounts have one name by now, neither loses it: each goes on signing in by its own
 * lower case. The one that is written in the folded form, or else the older one, also has the name in every other form.
 * `postern doctor` names both.
 */
export async function prepare(db: Kysely<unknown>): Promise<void> {
  for (const kind of KINDS) {
    // One that was interrupted is there, and good for nothing.
    await sql`drop index concurrently if exists ${sql.ref(indexOf(kind))}`.execute(db);
    await sql`
      create unique index concurrently ${sql.ref(indexOf(kind))} on users (${sql.ref(`${kind}_casefold`)})
      where ${sql.ref(`${kind}_casefold`)} is not null`.execute(db);
  }
  await foldAgain(db);
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const kind of KINDS) {
    const { rows } = await sql<{ present: boolean }>`
      select to_regclass(${indexOf(kind)}) is not null as present`.execute(db);
    if (rows[0]!.present) continue;
    await sql`
      create unique index ${sql.ref(indexOf(kind))} on users (${sql.ref(`${kind}_casefold`)})
      where ${sql.ref(`${kind}_casefold`)} is not null`.execute(db);
  }
  await foldAgain(db);
}

const indexOf = (kind: (typeof KINDS)[number]): string => `users_${kind}_casefold`;

const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/[^ı]+/gu, (part) => part.toLowerCase().toUpperCase().toLowerCase())
    .replaceAll('ς', 'σ')
    .normalize('NFKC');

/** Writes the new form where it is another, of the oldest accounts first. What is plain ASCII is not even read. */
async function foldAgain(db: Kysely<unknown>): Promise<void> {
  for (const kind of KINDS) {
    const [old, name] = [sql.ref(`${kind}_folded`), sql.ref(`${kind}_casefold`)];
    const others: Array<{ sub: string; to: string; created_at: Date }> = [];
    for (let after = ''; ;) {
      const { rows } = await sql<{ sub: string; name: string; created_at: Date }>`
        select sub, ${old} as name, created_at from users
        where sub > ${after} and ${old} ~ '[^ -~]' order by sub limit ${PAGE}`.execute(db);
      for (const { sub, name: before, created_at } of rows) {
        const to = folded(before);
        if (to !== before) others.push({ sub, to, created_at });
      }
      after = rows.at(-1)?.sub ?? after;
      if (rows.length < PAGE) break;
    }
    others.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.sub < b.sub ? -1 : 1));
    for (let from = 0; from < others.length; from += PAGE) {
      const page = others.slice(from, from + PAGE);
      await sql`
        with wanted as (
          select distinct on (name) sub, name
          from unnest(${page.map(({ sub }) => sub)}::text[], ${page.map(({ to }) => to)}::text[])
            with ordinality as w (sub, name, place)
          order by name, place
        )
        update users u set ${name} = wanted.name
        from wanted
        where u.sub = wanted.sub
          and not exists (select from users h where h.${old} = wanted.name)
          and not exists (select from users h where h.${name} = wanted.name)`.execute(db);
    }
  }
}
