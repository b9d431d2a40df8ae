/** Whoever reads our output may stop reading (`faultboard errors | head`), which is no failure. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  complain(`Cannot write to standard output: ${error.message}`)
  process.exit(1)
})

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/**
 * Writes what went wrong to standard error, so that it never mixes with the output that a program reads. Messages repeat
 * arguments and file names, which may contain escape sequences.
 */
export function complain(text: string): void {
  process.stderr.write(
    `${text.replace(UNSAFE, (character) => (character === '\n' ? character : visible(character)))}\n`,
  )
}

/** JSON for programs. What a terminal would obey stays escaped, which means the same to every reader of JSON. */
export function printJson(value: unknown): void {
  print(escaped(JSON.stringify(value, null, 2)))
}

/** The same as one line without its end. */
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
 * Text of strangers as one harmless line: an error message may hold escape sequences that move the cursor, colour the
 * screen or retitle the window, and marks that reverse the order of the letters.
 */
export function harmless(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSAFE, visible)
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`
}

/** Columns of the terminal; without one, lines are as long as they are. */
export function terminalWidth(): number {
  const asked = Number(process.env.COLUMNS)
  return process.stdout.columns ?? (Number.isInteger(asked) && asked > 0 ? asked : Number.POSITIVE_INFINITY)
}

/**
 * Ends the process once everything is written. Without it, a pool that a configuration file opened would keep the
 * process alive.
 */
export async function finish(exit_code: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((written) => stream.write('', () => written()))
  }
  process.exit(exit_code)
}

/** Control characters, invisible formatting (direction marks, zero width), line separators, halves of pairs. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function unicodeEscape(unit: number): string {
  return `\\u${hex(unit, 4)}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
