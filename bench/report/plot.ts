/** The figures as a plot: a bar for each server, as a share of the ceiling, or as its p95 where there is none. */
import type { Report } from './index.ts';

const WIDTH = 900;
const LABELS = 320;
const BAR = 14;
const GAP = 18;
const TOP = 64;
const COLOURS = ['#1f6f5c', '#c2763a', '#5a6b8c', '#8c5a7d'];

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

interface Bar {
  name: string;
  value: number;
}

/** A document of its own, without script or fonts from elsewhere. */
export function asSvg({ rows, about }: Report): string {
  const hasCeiling = rows.some(({ results }) => results.some(({ name }) => name === 'ceiling'));
  const groups = rows.map(({ title, results }) => {
    const ceiling = results.find(({ name }) => name === 'ceiling');
    const bars: Bar[] = results
      .filter((result) => result !== ceiling)
      .map(({ name, rate, p95 }) => ({ name, value: ceiling ? rate / ceiling.rate : p95 }));
    return { title, bars };
  });
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)), Number.MIN_VALUE);
  const scale = (value: number): number => ((WIDTH - LABELS - 80) * value) / most;
  const parts: string[] = [];
  let y = TOP;
  for (const { title, bars } of groups) {
    const middle = y + (bars.length * BAR) / 2 + 4;
    parts.push(`<text x="${LABELS - 12}" y="${middle}" text-anchor="end">${escaped(title)}</text>`);
    for (const { name, value } of bars) {
      const width = Math.max(1, scale(value)).toFixed(1);
      parts.push(
        `<rect x="${LABELS}" y="${y}" width="${width}" height="${BAR - 2}" fill="${COLOURS[names.indexOf(name) % COLOURS.length]}"/>`,
        `<text x="${(LABELS + Number(width) + 6).toFixed(1)}" y="${y + BAR - 4}" class="value">${value.toFixed(value < 0.1 ? 3 : 2)}</text>`,
      );
      y += BAR;
    }
    y += GAP;
  }
  const legend = names.map((name, index) => {
    const x = LABELS + index * 160;
    const colour = COLOURS[index % COLOURS.length];
    return `<rect x="${x}" y="36" width="12" height="12" fill="${colour}"/><text x="${x + 18}" y="46">${escaped(name)}</text>`;
  });
  const title = hasCeiling ? 'Requests per second as a share of a bare Fastify in the same run' : 'p95 in milliseconds';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 24}" font-family="system-ui, sans-serif" font-size="12" fill="#222">`,
    '<style>.value{fill:#555;font-size:11px}</style>',
    `<rect width="${WIDTH}" height="${y + 24}" fill="#fff"/>`,
    `<text x="16" y="24" font-size="15" font-weight="600">${title}</text>`,
    ...legend,
    ...parts,
    `<text x="16" y="${y + 12}" class="value">${escaped(`${about.machine}, ${about.date}`)}</text>`,
    '</svg>',
    '',
  ].join('\n');
}
