import { DAY, HOUR, MINUTE } from '../../model/time.js'

/**
 * Formats a number as `1,234.5`, without trailing zeros. Loading the number formatter of the platform takes longer than
 * rendering a page.
 */
export function formatNumber(value: number, maxFractionDigits = 0): string {
  if (Number.isInteger(value) && Math.abs(value) < 1000) return String(value)
  const [whole = '', fraction] = String(roundDecimal(value, maxFractionDigits)).split('.')
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction ? `${grouped}.${fraction}` : grouped
}

/** Rounds the decimal text, because the binary value of 0.35 is below 0.35. */
function roundDecimal(value: number, digits: number): number {
  const rounded = Number(`${Math.round(Number(`${Math.abs(value)}e${digits}`))}e-${digits}`)
  // The text of a very large or small value already has an exponent.
  return Number.isNaN(rounded) ? Number(value.toFixed(digits)) : Math.sign(value) * rounded
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** Formats a size as `1.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${formatNumber(value, value < 100 && power > 0 ? 1 : 0)} ${UNITS[power]}`
}

export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds >= 10_000) return formatSeconds(milliseconds / 1000)
  return `${formatNumber(milliseconds, milliseconds < 100 ? 1 : 0)} ms`
}

const DURATION_UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** Formats a duration by its two largest units: `3 d 4 h`. */
export function formatSeconds(seconds: number): string {
  let rest = Math.round(seconds)
  const parts = DURATION_UNITS.flatMap(([unit, length]) => {
    const amount = Math.floor(rest / length)
    rest -= amount * length
    return amount > 0 ? [`${amount} ${unit}`] : []
  })
  return parts.slice(0, 2).join(' ') || '0 s'
}

/** Formats a duration in one unit: `79 days`. */
export function formatDuration(milliseconds: number | null): string {
  if (milliseconds === null) return '–'
  if (milliseconds < HOUR) return `${Math.max(1, Math.round(milliseconds / MINUTE))} min`
  if (milliseconds < 2 * DAY) return `${fewDigits(milliseconds / HOUR)} h`
  return `${fewDigits(milliseconds / DAY)} days`
}

function fewDigits(value: number): string {
  return formatNumber(value, value < 10 ? 1 : 0)
}

/** Percentages of fewer samples would suggest false precision. */
export const MIN_PERCENT_SAMPLES = 20

/**
 * Formats a share of a count as a percentage. Undefined for fewer than 20 samples, for which callers show the counts.
 */
export function samplePercent(share: number, samples: number): string | undefined {
  return samples < MIN_PERCENT_SAMPLES ? undefined : formatPercent(share)
}

/** Formats the share of a count in a total. Undefined if the total is less than 20. */
export function sharePercent(count: number, share: number): string | undefined {
  return samplePercent(share, share > 0 ? Math.round(count / share) : 0)
}

/** Formats a gauge or a setting as a percentage. Use `samplePercent` for counts. */
export function formatPercent(share: number): string {
  return `${formatNumber(share * 100, 1)}%`
}
