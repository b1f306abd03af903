import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
