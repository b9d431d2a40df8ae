import { Tracker } from 'faultboard'
import { faultboard } from 'faultboard/nitro'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

export default faultboard()
