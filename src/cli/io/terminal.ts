/** A reader that stops early (`faultboard errors | head`) is not a failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  complain(`Cannot write to standard output: ${error.message}`)
  process.exit(1)
})

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/**
 * Writes to standard error, so that messages never mix with output that a program reads. Escapes control sequences,
 * because messages repeat arguments and file names.
 */
export function complain(text: string): void {
  process.stderr.write(
    `${text.replace(UNSAFE, (character) => (character === '\n' ? character : visible(character)))}\n`,
  )
}

/** Prints JSON for programs. Terminal control characters stay escaped, which is equivalent JSON. */
export function printJson(value: unknown): void {
  print(escaped(JSON.stringify(value, null, 2)))
}

/** JSON as one line without a line break. */
export function jsonLine(value: unknown): string {
  return escaped(JSON.stringify(value))
}

function escaped(json: string): string {
  return json.replace(UNSAFE, (character) =>
    character === '\n'
      ? character
      : Array.from({ length: character.length }, (_, i) => unicodeEscape(character.charCodeAt(i))).join(''),
  )
}

/**
 * Escapes untrusted text for one line: error messages can contain sequences that move the cursor, color the screen,
 * retitle the window, or reverse the order of letters.
 */
export function harmless(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSAFE, visible)
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`
}

/** Width of the terminal; unlimited without one. */
export function terminalWidth(): number {
  const asked = Number(process.env.COLUMNS)
  return process.stdout.columns ?? (Number.isInteger(asked) && asked > 0 ? asked : Number.POSITIVE_INFINITY)
}

/** Exits after all output is written. Otherwise a pool opened by a configuration file would keep the process alive. */
export async function finish(exit_code: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((written) => stream.write('', () => written()))
  }
  process.exit(exit_code)
}

/** Control characters, invisible formatting (direction marks, zero width), line separators, lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function unicodeEscape(unit: number): string {
  return `\\u${hex(unit, 4)}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
