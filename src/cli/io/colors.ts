import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'

export type Color = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan'

/** Colors of severities, statuses and states. */
const WORD_COLORS: Readonly<Record<string, Color>> = {
  critical: 'red',
  high: 'yellow',
  medium: 'cyan',
  low: 'dim',
  new: 'yellow',
  in_progress: 'cyan',
  investigating: 'cyan',
  resolved: 'green',
  wont_fix: 'dim',
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  applied: 'green',
  pending: 'yellow',
  on: 'green',
  incomplete: 'yellow',
  off: 'dim',
}

/** Colors a string if the stream supports colors. */
export function colorize(color: Color, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // Checked here, because early versions of Node.js 20 do not check the stream.
  return hasColors(stream) ? styleText(color, text, { validateStream: false }) : text
}

/** Colors a string by its first word, if that word is a severity, a status or a state. */
export function colorizeState(text: string): string {
  const color = WORD_COLORS[text.split(' ', 1)[0] ?? '']
  return color ? colorize(color, text) : text
}

/** `getColorDepth` reads FORCE_COLOR, NO_COLOR, NODE_DISABLE_COLORS and TERM. */
function hasColors(stream: NodeJS.WriteStream): boolean {
  if (process.env.FORCE_COLOR !== undefined) return WriteStream.prototype.getColorDepth() > 1
  return stream.isTTY === true && stream.getColorDepth() > 1
}
