import { pagesDashboard } from 'faultboard/next'

export default pagesDashboard()
