import { Tracker } from 'faultboard'

// Both processes write to the same database. Only the worker runs jobs, which send the notifications.
Tracker.configure({
  application_name: 'shop',
  dashboard_username: 'admin',
  dashboard_password: process.env.DASHBOARD_PASSWORD,
  enable_breadcrumbs: true,
  run_jobs: process.env.ROLE !== 'web',
})

export const connection = { url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }
export const queue_name = process.env.QUEUE_NAME ?? 'mail'
