import { dayOf, HOUR, localDate, startOfDay } from './time.js'

interface DigestTime {
  digest_frequency: 'never' | 'daily' | 'weekly'
  digest_hour: number
  time_zone: string
}

const MONDAY = 1

/** When the digest after this one is sent: every day, or every Monday, from its hour on in the time zone. */
export function nextDigest(last: number, { digest_frequency, digest_hour, time_zone }: DigestTime): number | null {
  if (digest_frequency === 'never') return null
  for (let day = startOfDay(last, time_zone); ; day = dayAfter(day, time_zone)) {
    const turn = fromHour(day, digest_hour, time_zone)
    if (turn > last && (digest_frequency === 'daily' || isMonday(day, time_zone))) return turn
  }
}

/** The last turn that has come, of those since the first that was due: what was missed is caught up in one. */
export function lastDigest(due_at: number, now: number, time: DigestTime): number {
  let turn = due_at
  for (;;) {
    const next = nextDigest(turn, time)
    if (next === null || next > now) return turn
    turn = next
  }
}

/** On a day on which the clocks leave the hour out, the one after it. */
function fromHour(day: number, hour: number, zone: string): number {
  let time = day
  while (localDate(time, zone).hour < hour) time += HOUR
  return time
}

/** Past the end of the longest day, and before that of the shortest two. */
function dayAfter(day: number, zone: string): number {
  return startOfDay(day + 36 * HOUR, zone)
}

function isMonday(day: number, zone: string): boolean {
  return new Date(`${dayOf(day, zone)}T12:00:00Z`).getUTCDay() === MONDAY
}
