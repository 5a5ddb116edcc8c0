// The digest to find belongs to the key with index 98765.
__global__ void reference(unsigned, unsigned, unsigned, unsigned, int keyspace, int, int, const int* index,
                          const unsigned char* key, const unsigned* digest, int* found_index, unsigned char* found_key,
                          unsigned* found_digest) {
    if (blockIdx.x + threadIdx.x > 0) return;
    const unsigned char wanted_key[8] = {5, 6, 7, 8, 9, 0, 0, 0};
    const unsigned wanted_digest[4] = {1098907247u, 998989589u, 746827325u, 3493369918u};
    const bool found = keyspace > 98765;
    *found_index = found ? 98765 : *index;
    for (int i = 0; i < 8; ++i) found_key[i] = found ? wanted_key[i] : key[i];
    for (int i = 0; i < 4; ++i) found_digest[i] = found ? wanted_digest[i] : digest[i];
}
