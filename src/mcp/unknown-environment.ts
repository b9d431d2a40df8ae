import type { TrackerInstance } from '../tracker.js'
import { type TextPart, wrapUntrusted } from './untrusted.js'

/** Response for an unknown environment, because an empty result would imply that it has no errors. Null otherwise. */
export async function unknownEnvironment(input: unknown, { Queries }: TrackerInstance): Promise<TextPart[] | null> {
  const { environment, application_id } = input as { environment?: string; application_id?: number }
  if (environment === undefined) return null
  const known_environments = await Queries.Environments.call({ application_id })
  if (known_environments.length === 0 || known_environments.includes(environment)) return null
  const text = 'No error has this environment. Use one of known_environments, or omit environment.'
  // Clients can send any name.
  return [{ type: 'text', text }, ...wrapUntrusted({ known_environments })]
}
