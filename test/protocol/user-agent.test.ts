/** What is kept of a User-Agent header: names of a list, and nothing of the header itself. */
import { expect, test } from 'vitest';
import { deviceOf } from '../../src/protocol/user-agent.ts';

const APPLE = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox/Linux'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${APPLE} Version/18.6 Safari/605.1.15`, 'Safari/macOS'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${APPLE} Version/18.6 Mobile/15E148 Safari/604.1`,
    'Safari/iPhone',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${APPLE} FxiOS/145.0 Mobile/15E148 Safari/605.1.15`,
    'Firefox/iPhone',
  ],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`, 'Chrome/Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/142.0.0.0`, 'Edge/Windows'],
  [`Mozilla/5.0 (Linux; Android 16; SM-S938B) ${CHROME} Mobile Safari/537.36`, 'Chrome/Android'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`, 'Chrome/ChromeOS'],
  ['curl/8.14.1', 'curl/'],
  ['<script>alert(1)</script>', null],
  ['', null],
  [undefined, null],
])('%s is %s', (header, device) => {
  expect(deviceOf(header)).toBe(device);
});

test('a long header costs no more than a short one', () => {
  expect(deviceOf(`${'x'.repeat(100_000)} Firefox/1.0`)).toBeNull();
});
