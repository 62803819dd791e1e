/** What happens to themes, as the audit log keeps it. */
import type { Change } from './change.ts';

/** Events of a theme: of the server's, where `client_id` is null, or of a client's. */
export type ThemeEvent = { event: 'theme_changed' | 'theme_deleted'; client_id: string | null; detail: Change };
