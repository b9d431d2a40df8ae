import { reportingEndpoint } from 'faultboard/reporting'

export const { POST, OPTIONS } = reportingEndpoint({
  allowed_origins: ['https://shop.example'],
  client_address: ({ request }) => request.headers.get('x-real-ip'),
})
