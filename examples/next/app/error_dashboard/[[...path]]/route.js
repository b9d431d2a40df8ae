import { dashboard } from 'faultboard/next'

export const { GET, HEAD, POST } = dashboard()
