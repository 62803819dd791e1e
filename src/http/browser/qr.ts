/** QR codes as the path of an SVG: no image is fetched, and the content security policy has nothing to say. */
import { encodeQR } from 'qr';
import type { QrView } from '../../views/authenticator.ts';

/** The dark squares of a text, row by row, as rectangles one high, with the quiet zone around them that cameras need. */
export function qrOf(text: string): QrView {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 });
  const path = rows
    .flatMap((row, y) => {
      const runs: string[] = [];
      for (let x = 0; x < row.length; x += 1) {
        if (!row[x]) continue;
        const from = x;
        while (row[x + 1]) x += 1;
        const width = x - from + 1;
        runs.push(`M${from} ${y}h${width}v1h-${width}z`);
      }
      return runs;
    })
    .join('');
  return { size: rows.length, path };
}
