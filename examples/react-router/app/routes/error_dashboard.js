import { serveDashboard } from '../faultboard.server.js'

export const loader = ({ request }) => serveDashboard(request)
export const action = loader
