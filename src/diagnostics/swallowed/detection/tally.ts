/** What was raised in a place in an hour, since it was last written down. */
export interface Tally {
  hour: number
  error_type: string
  raise_location: string
  raised: number
  reported: number
  /** Where it was caught, and how often more than before. May be less than none: it was reported after all. */
  rescues: Map<string, Rescues>
}

export interface Rescues {
  rescue_location: string
  handler_kind: string
  count: number
}

/** A row of the table, as what is to be added to it. */
export interface TallyRow {
  hour: number
  error_type: string
  raise_location: string
  /** Empty in the row that counts what was raised, wherever it was caught. */
  rescue_location: string
  handler_kind: string
  raise_count: number
  rescue_count: number
  reported_count: number
}

/** The rows of a tally, which begins anew at nothing. */
export function rowsOf(tally: Tally): TallyRow[] {
  const { hour, error_type, raise_location, raised, reported, rescues } = tally
  const place = { hour, error_type, raise_location }
  const rows: TallyRow[] = []
  if (raised !== 0 || reported !== 0) {
    rows.push({
      ...place,
      rescue_location: '',
      handler_kind: '',
      raise_count: raised,
      rescue_count: 0,
      reported_count: reported,
    })
  }
  for (const { rescue_location, handler_kind, count } of rescues.values()) {
    if (count === 0) continue
    rows.push({ ...place, rescue_location, handler_kind, raise_count: 0, rescue_count: count, reported_count: 0 })
  }
  tally.raised = 0
  tally.reported = 0
  for (const rescue of rescues.values()) rescue.count = 0
  return rows
}
