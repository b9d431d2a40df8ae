/** Describes a failure. Node.js leaves the message empty when all addresses of a host refuse the connection. */
export function failureMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || String((error as NodeJS.ErrnoException).code ?? error.name)
}
