/** What the doctor finds. */
export interface Finding {
  level: 'ok' | 'warning' | 'error';
  message: string;
  fix?: string;
}

export const ok = (message: string): Finding => ({ level: 'ok', message });
export const warning = (message: string, fix: string): Finding => ({ level: 'warning', message, fix });
export const error = (message: string, fix: string): Finding => ({ level: 'error', message, fix });
/** What was found, or that nothing was. */
export const or = (findings: Finding[], fine: string): Finding[] => (findings.length > 0 ? findings : [ok(fine)]);
