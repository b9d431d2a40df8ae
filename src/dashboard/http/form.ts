import { TrackerError } from '../../model/errors.js'

const MAX_BODY_BYTES = 1_048_576
const MAX_PARAMETERS = 3000
/** Parameters that form a list when repeated. For all other parameters, the last value wins. */
const REPEATABLE: ReadonlySet<string> = new Set(['tag'])

/** Parses a form body within the size limit. Collects `name[]` fields into a list under `name`. */
export async function readForm(request: Request): Promise<Record<string, string | string[]>> {
  const type = request.headers.get('content-type') ?? ''
  if (type !== '' && !/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw new TrackerError('invalid_input', 'the body must be form-encoded (application/x-www-form-urlencoded)')
  }
  return toFields(new URLSearchParams(await readText(request)))
}

/** Converts parameters to an object without a prototype, so that `__proto__` is an ordinary name. */
export function toFields(parameters: URLSearchParams): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = Object.create(null)
  let count = 0
  for (const [name, value] of parameters) {
    if (++count > MAX_PARAMETERS)
      throw new TrackerError('invalid_input', `at most ${MAX_PARAMETERS} parameters are allowed`)
    const list = /^(.+)\[\d{0,4}\]$/.exec(name)?.[1] ?? (REPEATABLE.has(name) ? name : undefined)
    if (list === undefined) result[name] = value
    else {
      const values = result[list]
      if (Array.isArray(values)) values.push(value)
      else result[list] = [value]
    }
  }
  return result
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLarge(): TrackerError {
  return new TrackerError('too_large', `the body must be at most ${MAX_BODY_BYTES} bytes`)
}
