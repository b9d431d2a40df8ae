/** Rate budgets by option name, with the text for a rejection and its consequence. */
export const BUDGETS = {
  client_max_requests_per_minute: {
    title: 'Too many requests from clients',
    consequence: 'Further requests were rejected with 429 before their body was read. Clients retry later.',
  },
  client_max_bytes_per_minute: {
    title: 'Too many bytes from clients',
    consequence: 'Further requests were rejected with 429 while their body was read. Clients retry later.',
  },
  client_max_new_errors_per_hour: {
    title: 'Too many new client errors',
    consequence:
      'Occurrences of further errors were recorded in the shared error "Client errors over the hourly limit".',
  },
  client_max_stored_bytes_per_day: {
    title: 'Too many bytes of client occurrences',
    consequence:
      'Further occurrences were counted without details. Far above the limit, they were counted in the shared error "Client errors over the hourly limit".',
  },
  notification_max_per_hour: {
    title: 'Too many notifications',
    consequence: 'Further notifications are listed in one summary per channel at the end of the hour.',
  },
} as const satisfies Record<string, { title: string; consequence: string }>

export type BudgetName = keyof typeof BUDGETS
export const BUDGET_NAMES = Object.keys(BUDGETS) as BudgetName[]

/** Counts rejections by a budget. Never throws and never waits. */
export type CountRejections = (budget: BudgetName, count?: number) => void
