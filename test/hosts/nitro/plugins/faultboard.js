import faultboard from 'faultboard/nitro'

// The same build runs without Faultboard, to be compared with.
export default process.env.HOST_WITHOUT_FAULTBOARD === undefined ? faultboard : () => {}
