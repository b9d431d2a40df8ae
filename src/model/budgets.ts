/** THE TABLE of budgets: the option that sets each, what it rejects, and what happens instead. */
export const BUDGETS = {
  client_max_requests_per_minute: {
    what: 'Requests from clients',
    consequence: 'Rejected with 429 before the body is read. Clients retry later.',
  },
  client_max_bytes_per_minute: {
    what: 'Requests from clients',
    consequence: 'Rejected with 429 while the body is read. Clients retry later.',
  },
  client_max_new_errors_per_hour: {
    what: 'Occurrences of new client errors',
    consequence: 'Recorded in the shared error "Client errors over the hourly limit".',
  },
  client_max_stored_bytes_per_day: {
    what: 'Client occurrences',
    consequence: 'Counted without details.',
  },
  notification_max_per_hour: {
    what: 'Messages',
    consequence: 'Listed in one summary per channel at the end of the hour.',
  },
} as const satisfies Record<string, { what: string; consequence: string }>

export type BudgetName = keyof typeof BUDGETS
export const BUDGET_NAMES = Object.keys(BUDGETS) as BudgetName[]

/** Counts what a budget rejects. Never throws and never waits. */
export type Reject = (budget: BudgetName, count?: number) => void
