/** What an access token is: a JWT that says what it is worth (RFC 9068), or a handle that only we can read. */
export const TOKEN_FORMATS = ['jwt', 'opaque'] as const;
export type TokenFormat = (typeof TOKEN_FORMATS)[number];
