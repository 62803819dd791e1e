/** /dev/theme, in development only: how pages would look with a name and colours, before they are kept. */
import type { FastifyInstance } from 'fastify';
import { COLOR, leastContrast, LEGIBLE } from '../../protocol/contrast.ts';
import { pages } from '../../protocol/endpoint.ts';
import { textOf } from '../../protocol/parameters.ts';
import { devThemePage } from '../../views/dev-theme.ts';
import { sendPage } from '../page.ts';
import { queryOf, route } from '../request.ts';
import type { Context } from './context.ts';

export function devTheme(app: FastifyInstance, context: Context): void {
  route(app, pages.dev_theme, {
    async GET(request, reply) {
      const query = queryOf(request);
      const kept = (await context.deps.directory.themes()).get(null);
      const read = (name: 'name' | 'color' | 'color_dark') => textOf(query, name) ?? kept?.[name] ?? '';
      const theme = { name: read('name').slice(0, 80), color: read('color'), color_dark: read('color_dark') };
      const given = (['color', 'color_dark'] as const).filter((mode) => theme[mode] !== '');
      const contrasts = given.map((mode) => {
        const found = COLOR.test(theme[mode]) ? leastContrast(mode, theme[mode]) : null;
        return [mode, found?.toFixed(2) ?? null, (found ?? 0) >= LEGIBLE] as const;
      });
      const options = Object.entries(theme).filter(([, value]) => value !== '');
      // For a shell to copy: what stands between single quotes is text, but for the quote itself.
      const quoted = options.map(([name, value]) => `--${name.replace('_', '-')} '${value.replaceAll("'", "'\\''")}'`);
      const command = ['postern settings set-theme', ...quoted].join(' ');
      const render = { theme: { ...kept, ...theme }, contrasts, command };
      return sendPage(context, reply, (frame) => devThemePage({ frame, ...render }), {
        formAction: 'self',
        english: true,
      });
    },
  });
}
