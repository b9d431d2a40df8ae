const SPELLINGS: Record<string, string> = { ios: 'iOS', android: 'Android', api: 'API', web: 'Web' }

/** The platform in the dashboard's own spelling: clients may send `ios`, `android`, `web`. Free text stays as it is. */
export function platformOf(given: string | undefined): string {
  if (!given) return 'API'
  return SPELLINGS[given.toLowerCase()] ?? given
}
