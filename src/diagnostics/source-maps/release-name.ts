import { requiredText } from '../../model/input.js'

/** A release, by the `app_version` that its clients report. */
export const releaseName = () => requiredText({ max: 128 })
