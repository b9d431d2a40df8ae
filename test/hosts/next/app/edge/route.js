import { dashboard } from 'faultboard/next'

export const runtime = 'edge'

export const { GET } = dashboard()
