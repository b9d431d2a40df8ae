import { withFaultboard } from 'faultboard/next'

const handler = async () => {
  throw new Error('wrapped is broken')
}

export default process.env.HOST_WITHOUT_FAULTBOARD === undefined ? withFaultboard(handler) : handler
