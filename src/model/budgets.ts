/** THE TABLE of budgets: the option that sets each, what it rejects, and what happens instead. */
export const BUDGETS = {
  client_max_requests_per_minute: {
    what: 'Too many requests from clients',
    consequence: 'They were rejected with 429 before their body was read. Clients retry later.',
  },
  client_max_bytes_per_minute: {
    what: 'Too many bytes from clients',
    consequence: 'Their requests were rejected with 429 while the body was read. Clients retry later.',
  },
  client_max_new_errors_per_hour: {
    what: 'Too many new client errors',
    consequence: 'Their occurrences were recorded in the shared error "Client errors over the hourly limit".',
  },
  client_max_stored_bytes_per_day: {
    what: 'Too many bytes of client occurrences',
    consequence: 'They were counted without details; far beyond the limit, in the shared error.',
  },
  notification_max_per_hour: {
    what: 'Too many notifications',
    consequence: 'They are listed in one summary per channel at the end of the hour.',
  },
} as const satisfies Record<string, { what: string; consequence: string }>

export type BudgetName = keyof typeof BUDGETS
export const BUDGET_NAMES = Object.keys(BUDGETS) as BudgetName[]

/** Counts rejections by a budget. Never throws and never waits. */
export type Reject = (budget: BudgetName, count?: number) => void
