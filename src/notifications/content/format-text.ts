/** `10 Mar 2026, 12:00 UTC` */
export function formatTime(time: number, time_zone: string): string {
  return `${dateFormat(time_zone, { dateStyle: 'medium', timeStyle: 'short' }).format(time)} ${time_zone}`
}

/** `10 Mar 2026` */
export function formatDay(time: number, time_zone: string): string {
  return dateFormat(time_zone, { dateStyle: 'medium' }).format(time)
}

/** Rounded to one decimal place. */
export function formatCount(count: number): string {
  numberFormat ??= new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
  return numberFormat.format(count)
}

/** `1 error`, `3 errors` */
export function formatQuantity(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`
}

/** Created lazily, because formatters are expensive and many processes send nothing. */
let numberFormat: Intl.NumberFormat | undefined
const dateFormats = new Map<string, Intl.DateTimeFormat>()

function dateFormat(time_zone: string, style: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const cacheKey = `${time_zone} ${style.timeStyle}`
  let format = dateFormats.get(cacheKey)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { ...style, timeZone: time_zone })
    dateFormats.set(cacheKey, format)
  }
  return format
}
