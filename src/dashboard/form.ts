import { TrackerError } from '../model/errors.js'

const MAX_BYTES = 1_048_576
const MAX_PAIRS = 3000

/** The body of a form as a mapping; `name[]` gathers into a list under `name`. Its size is bounded before it is parsed. */
export async function readForm(request: Request): Promise<Record<string, string | string[]>> {
  const type = request.headers.get('content-type') ?? ''
  if (type !== '' && !/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw new TrackerError('invalid_input', 'the body must be form-encoded (application/x-www-form-urlencoded)')
  }
  return fields(new URLSearchParams(await readText(request)))
}

/** Parameters as a mapping without a prototype: a parameter named `__proto__` is only a parameter. */
export function fields(parameters: URLSearchParams): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = Object.create(null)
  let pairs = 0
  for (const [name, value] of parameters) {
    if (++pairs > MAX_PAIRS)
      throw new TrackerError('invalid_input', `there must not be more than ${MAX_PAIRS} parameters`)
    const list = /^(.+)\[\d{0,4}\]$/.exec(name)?.[1]
    if (list === undefined) result[name] = value
    else {
      const known = result[list]
      if (Array.isArray(known)) known.push(value)
      else result[list] = [value]
    }
  }
  return result
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BYTES) throw tooLarge()
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_BYTES) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLarge(): TrackerError {
  return new TrackerError('too_large', `the body must not be larger than ${MAX_BYTES} bytes`)
}
