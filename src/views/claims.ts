/** What the consent page says of a claim that was asked for by name (OpenID Connect Core §5.1). */
const sentences: Readonly<Record<string, string>> = {
  name: 'See your full name',
  given_name: 'See your first name',
  family_name: 'See your last name',
  middle_name: 'See your middle name',
  nickname: 'See your nickname',
  preferred_username: 'See your username',
  profile: 'See the address of your profile page',
  picture: 'See your picture',
  website: 'See the address of your website',
  email: 'See your e-mail address',
  email_verified: 'See whether your e-mail address was verified',
  gender: 'See your gender',
  birthdate: 'See your date of birth',
  zoneinfo: 'See your time zone',
  locale: 'See your language',
  phone_number: 'See your phone number',
  phone_number_verified: 'See whether your phone number was verified',
  address: 'See your postal address',
  updated_at: 'See when your profile was last changed',
  groups: 'See the groups you belong to',
};

/** The sentence, or null for a claim of somebody's own making: its raw name is shown. */
export const claimSentence = (name: string): string | null =>
  Object.hasOwn(sentences, name) ? sentences[name]! : null;
