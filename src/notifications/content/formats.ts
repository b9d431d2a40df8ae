/** `10 Mar 2026, 12:00 UTC` */
export function formatTime(time: number, time_zone: string): string {
  return `${clockOf(time_zone, { dateStyle: 'medium', timeStyle: 'short' }).format(time)} ${time_zone}`
}

/** `10 Mar 2026` */
export function formatDay(time: number, time_zone: string): string {
  return clockOf(time_zone, { dateStyle: 'medium' }).format(time)
}

/** With one digit behind the point where there is one to tell. */
export function formatCount(count: number): string {
  numbers ??= new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
  return numbers.format(count)
}

/** `1 error`, `3 errors` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** Made when they are first needed: a process that sends nothing does not pay for them. */
let numbers: Intl.NumberFormat | undefined
const clocks = new Map<string, Intl.DateTimeFormat>()

function clockOf(time_zone: string, style: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = `${time_zone} ${style.timeStyle}`
  let clock = clocks.get(name)
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-GB', { ...style, timeZone: time_zone })
    clocks.set(name, clock)
  }
  return clock
}
