import { batchAction } from './actions/batch-action.js'
import { errorActions } from './actions/error-actions.js'
import type { Action, Page } from './define.js'
import { error } from './pages/error.js'
import { errors } from './pages/errors.js'
import { overview } from './pages/overview.js'
import { settings } from './pages/settings.js'

/** THE TABLE of endpoints: everything the dashboard answers below its mount path. */
export const PAGES: readonly Page[] = [overview, errors, error, settings]

export const ACTIONS: readonly Action[] = [...errorActions, batchAction]
