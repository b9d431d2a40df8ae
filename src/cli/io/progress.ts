const REDRAW_INTERVAL_MS = 100
const DEFAULT_COLUMNS = 80
const ERASE_LINE = '\r\u001b[K'

/** True if a progress line is on the screen. */
let isVisible = false

export interface ProgressOptions {
  /** Name of the activity, such as `Importing`. */
  label: string
  unit: keyof typeof FORMATS
  /** True for a command that prints JSON. */
  isQuiet: boolean
  stream?: NodeJS.WriteStream
  now?: () => number
}

/** The total is null if it is unknown. */
export type ShowProgress = (done: number, total: number | null) => void

/**
 * Returns a function that shows progress in one line on standard error, which is rewritten. Other output and the end of
 * the command remove the line. Returns undefined in a pipe or a log, where progress is not shown.
 */
export function progressLine({
  label,
  unit,
  isQuiet,
  stream = process.stderr,
  now = Date.now,
}: ProgressOptions): ShowProgress | undefined {
  if (isQuiet || !stream.isTTY || process.env.TERM === 'dumb') return undefined
  let startedAt: number | null = null
  let drawnAt = Number.NEGATIVE_INFINITY
  return (done, total) => {
    startedAt ??= now()
    if (now() - drawnAt < REDRAW_INTERVAL_MS) return
    drawnAt = now()
    isVisible = true
    const text = progressText({ label, unit, done, total, elapsedMs: drawnAt - startedAt })
    stream.write(`${ERASE_LINE}${text.slice(0, (stream.columns || DEFAULT_COLUMNS) - 1)}`)
  }
}

/** Removes the progress line, so that other output starts on an empty line. */
export function eraseProgress(stream: NodeJS.WriteStream = process.stderr): void {
  if (!isVisible) return
  isVisible = false
  stream.write(ERASE_LINE)
}

const FORMATS = { errors: formatCount, rows: formatCount, MB: formatMegabytes }

interface ProgressState extends Pick<ProgressOptions, 'label' | 'unit'> {
  done: number
  total: number | null
  elapsedMs: number
}

function progressText({ label, unit, total, done, elapsedMs }: ProgressState): string {
  const format = FORMATS[unit]
  const perSecond = elapsedMs > 0 ? (done / elapsedMs) * 1000 : 0
  return [
    total === null
      ? `${label}: ${format(done)} ${unit}`
      : `${label}: ${format(done)} of ${format(total)} ${unit} (${percent(done, total)}%)`,
    ...(perSecond > 0 ? [`${format(perSecond)}${unit === 'MB' ? ' MB' : ''}/s`] : []),
    ...(perSecond > 0 && total !== null ? [`${duration((total - done) / perSecond)} left`] : []),
  ].join(', ')
}

function percent(done: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.floor((100 * done) / total))
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  if (whole < 60) return `${whole} s`
  return whole < 3600
    ? `${Math.ceil(whole / 60)} min`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en-US')
}

function formatMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}
