import { DIAGNOSTICS } from '../../src/diagnostics/diagnostics.js'
import { loadRoutes } from '../../src/diagnostics/routes.js'

export { liveStream } from '../../src/dashboard/live.js'

/** All endpoints of the dashboard, including those of the diagnostics. */
export const { pages: PAGES, feeds: FEEDS, downloads: DOWNLOADS, actions: ACTIONS } = await loadRoutes(DIAGNOSTICS)
