/** Why something failed, in its own words. When all addresses of a name refuse, Node.js leaves the message empty. */
export function ownWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name)
}
