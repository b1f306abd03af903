describe('never', () => {
