const SPELLINGS = new Map(['iOS', 'Android', 'API', 'Web'].map((platform) => [platform.toLowerCase(), platform]))

/** The platform in the dashboard's own spelling: clients may send `ios`, `android`, `web`. Free text stays as it is. */
export function platformOf(given: string | undefined): string {
  if (!given) return 'API'
  return SPELLINGS.get(given.toLowerCase()) ?? given
}
