/** What happens to the mail of people, as the audit log keeps it. */

/** Events about one mail; `sub` is whose account it was about. */
export type MailEvent = { event: 'mail_retried' | 'mail_deleted'; sub: string | null; detail: { mail_id: string } };
