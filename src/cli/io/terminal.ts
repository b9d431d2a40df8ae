import { type Color, colorize } from './colors.js'
import { eraseProgress } from './progress.js'

/**
 * A reader that stops early (`faultboard errors | head`) is not a failure. Called by the program, because the build may put
 * this module into a file that hosts load as well.
 */
export function exitWhenOutputCloses(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    printError(`Cannot write to standard output: ${error.message}`)
    process.exit(1)
  })
}

export function print(text: string): void {
  eraseProgress()
  process.stdout.write(`${text}\n`)
}

/**
 * Writes to standard error, so that messages never mix with output that a program reads. Escapes control sequences,
 * because messages repeat arguments and file names.
 */
export function printError(text: string, color?: Color): void {
  const safeText = text.replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)))
  eraseProgress()
  process.stderr.write(`${color ? colorize(color, safeText, process.stderr) : safeText}\n`)
}

/** Prints JSON for programs. Terminal control characters stay escaped, which is equivalent JSON. */
export function printJson(value: unknown): void {
  print(escapeJson(JSON.stringify(value, null, 2)))
}

/** Single-line JSON without a trailing newline. */
export function jsonLine(value: unknown): string {
  return escapeJson(JSON.stringify(value))
}

function escapeJson(json: string): string {
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
export function escapeText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSAFE, escapeCharacter)
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`
}

/** Width of the terminal. Unlimited without a terminal, or if the terminal has no size, as in some CI systems. */
export function terminalWidth(): number {
  const requestedWidth = Number(process.env.COLUMNS)
  return (
    process.stdout.columns ||
    (Number.isInteger(requestedWidth) && requestedWidth > 0 ? requestedWidth : Number.POSITIVE_INFINITY)
  )
}

/** Exits after all output is written. Otherwise a pool opened by a configuration file would keep the process alive. */
export async function finish(exitCode: number): Promise<never> {
  eraseProgress()
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((written) => stream.write('', () => written()))
  }
  process.exit(exitCode)
}

/** Control characters, invisible formatting (direction marks, zero width), line separators, lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function unicodeEscape(unit: number): string {
  return `\\u${hex(unit, 4)}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
